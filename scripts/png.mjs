// Draws the SVG files of a folder as PNG files beside them. Usage: png.mjs folder [start of the names]
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const modules = new URL('../target/tools/shots/node_modules/', import.meta.url).pathname;
const { Resvg } = createRequire(modules)('@resvg/resvg-js');
const font = (it) => `${modules}dejavu-fonts-ttf/ttf/DejaVuSansMono${it}.ttf`;
const fontFiles = ['', '-Bold', '-Oblique', '-BoldOblique'].map(font);
const [folder, start = ''] = process.argv.slice(2);
for (const name of readdirSync(folder)) {
  if (!name.endsWith('.svg') || !name.startsWith(start)) continue;
  const options = {
    font: { fontFiles, loadSystemFonts: false, defaultFontFamily: 'DejaVu Sans Mono' },
    fitTo: { mode: 'zoom', value: 1.5 },
  };
  const png = new Resvg(readFileSync(`${folder}/${name}`, 'utf8'), options).render().asPng();
  writeFileSync(`${folder}/${name.replace(/svg$/, 'png')}`, png);
}
