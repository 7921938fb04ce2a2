"""Questions in many voices, put together from phrases that files beside the code hold."""
