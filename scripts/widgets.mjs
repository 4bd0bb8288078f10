// Builds the pages of widgets/ into dist/widgets: for each a script and a style, named by their content, and the licences
// of the packages in it. This runs after nest build: the style begins with the one that all pages share.
import { build, transform } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PAGE_STYLE } from '../dist/src/platform/http/pages/page-style.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const TARGET = ['es2022', 'safari16', 'chrome109', 'firefox115'];

for (const [name, packages] of Object.entries({ pay: ['preact', 'uqr'], onboarding: ['preact'] })) {
  const [source, out] = [join(root, 'widgets', name), join(root, 'dist', 'widgets', name)];
  const { outputFiles } = await build({
    entryPoints: [join(source, 'main.tsx')],
    outdir: out,
    write: false,
    bundle: true,
    minify: true,
    format: 'iife',
    target: TARGET,
    banner: { js: '/*! licences of the packages in this file: licenses.txt */' },
    logLevel: 'error',
  });
  const styles = [dirname(source), source].map((folder) => readFileSync(join(folder, 'style.css'), 'utf8'));
  const css = PAGE_STYLE + styles.join('');
  const { code } = await transform(css, { loader: 'css', minify: true, target: TARGET });
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  write(out, 'script', 'js', outputFiles[0].text);
  write(out, 'style', 'css', code);
  const licences = packages.map(
    (each) => `${each}\n\n${readFileSync(join(root, 'node_modules', each, 'LICENSE'), 'utf8')}`,
  );
  writeFileSync(join(out, 'licenses.txt'), licences.join('\n\n'));
}

function write(folder, name, extension, text) {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  writeFileSync(join(folder, `${name}-${hash}.${extension}`), text);
}
