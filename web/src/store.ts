// A value that components watch.

import { useEffect, useState } from "preact/hooks";

export class Store<T> {
  readonly #watchers = new Set<() => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    if (Object.is(value, this.current)) return;
    this.current = value;
    for (const watcher of [...this.#watchers]) watcher();
  }

  update(change: (value: T) => T): void {
    this.set(change(this.current));
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }
}

/** Give a store's value, and render again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, render] = useState(0);
  const { value } = store;
  useEffect(() => {
    const stop = store.watch(() => render((count) => count + 1));
    // It may have changed between rendering and watching.
    if (!Object.is(value, store.value)) render((count) => count + 1);
    return stop;
  }, [store]);
  return value;
}
