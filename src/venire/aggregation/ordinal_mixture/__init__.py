"""The ordinal discrete mixture of Lakshminarayanan and Teh."""
