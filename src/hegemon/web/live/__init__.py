"""Live pages: a protocol as one HTML file that runs by itself, with our kernels in WebAssembly."""
