"""What recording, testing and the demonstration print."""
