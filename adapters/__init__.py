"""Built-in adapters: reader × tag map × context. They register like third-party ones, by entry point."""
