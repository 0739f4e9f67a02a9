"""Front ends: one folder per protocol, each with its wire, encoder and endpoint."""
