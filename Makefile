.PHONY: try test bench lint test-matrix

try:
	@bash scripts/try.sh

test:
	@bash scripts/test.sh

bench:
	@cargo bench --locked

lint:
	@bash scripts/lint.sh

test-matrix:
	@bash scripts/test-matrix.sh
