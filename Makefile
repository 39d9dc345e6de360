.PHONY: try test bench lint shots test-matrix test-live test-plugins

try:
	@bash scripts/try.sh

test:
	@bash scripts/test.sh

bench:
	@NVIM=$$(bash scripts/nvim.sh) && export NVIM && cargo bench --locked --bench bench

lint:
	@bash scripts/lint.sh

shots:
	@bash scripts/shots.sh

test-matrix:
	@bash scripts/test-matrix.sh

test-live:
	@bash scripts/test-live.sh

test-plugins:
	@bash scripts/test-plugins.sh
