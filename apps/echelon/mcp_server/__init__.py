"""Our tools for MCP clients: what `echelon mcp` serves."""
