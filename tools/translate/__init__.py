"""The course in Korean: messages out of the English sources, PO files beside them, and pages made of both."""
