// Keeps a mistake in one item away from the rest of the page.

import { Component, type ComponentChildren } from "preact";

interface Props {
  children: ComponentChildren;
}

export class Boundary extends Component<Props, { broken: boolean }> {
  override state = { broken: false };

  static override getDerivedStateFromError(): { broken: boolean } {
    return { broken: true };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render({ children }: Props, { broken }: { broken: boolean }) {
    if (!broken) return children;
    return (
      <p class="untrusted" role="alert">
        This part cannot be shown here. The inspector has it as it came.
      </p>
    );
  }
}
