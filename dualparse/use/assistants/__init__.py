"""What an assistant may call: the tools of a connected folder or a run, as a server of the Model Context Protocol."""
