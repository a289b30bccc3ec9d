"""What surrounds nodes that send messages: who begins and when, the links, and who crashes."""
