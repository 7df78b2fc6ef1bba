"""One folder per simulator, each with spec, codec, convert, link and host."""
