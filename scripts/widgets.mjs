// Builds the pages of widgets/ into dist/widgets: for each a script and a style, named by their content, the icon, and
// the licences of the packages in it. This runs after nest build: the style begins with the one that all pages share.
import { build, transform } from 'esbuild';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { PAGE_STYLE } from '../dist/src/platform/http/pages/page-style.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');
const TARGET = ['es2022', 'safari16', 'chrome109', 'firefox115'];
/** The packages for React run on Preact. */
const ALIAS = Object.fromEntries(
  Object.entries({ react: 'compat', 'react-dom': 'compat', 'react/jsx-runtime': 'jsx-runtime' }).map(
    ([from, to]) => [from, `preact/${to}`],
  ),
);
/** Of the first load of a page, script and style compressed. */
const BUDGET_BYTES = 90 * 1024;

const WIDGET = ['style.css'];
const KIT = [join('..', 'node_modules', 'uplot', 'dist', 'uPlot.min.css'), join('kit', 'style.css')];
/** The styles that a page shares with others, in their order. */
const PAGES = { pay: WIDGET, onboarding: WIDGET, console: KIT, portal: KIT };

for (const [name, shared] of Object.entries(PAGES)) {
  const [source, out] = [join(root, 'widgets', name), join(root, 'dist', 'widgets', name)];
  const { outputFiles, metafile } = await build({
    entryPoints: [join(source, 'main.tsx')],
    outdir: out,
    write: false,
    bundle: true,
    minify: true,
    metafile: true,
    alias: ALIAS,
    format: 'iife',
    target: TARGET,
    define: { 'process.env.NODE_ENV': '"production"' },
    banner: { js: '/*! licences of the packages in this file: licenses.txt */' },
    legalComments: 'none',
    logLevel: 'error',
  });
  const styles = [...shared.map((file) => join(root, 'widgets', file)), join(source, 'style.css')];
  const css = PAGE_STYLE + styles.map((file) => readFileSync(file, 'utf8')).join('\n');
  const { code } = await transform(css, { loader: 'css', minify: true, target: TARGET });
  const script = outputFiles[0].text;
  const bytes = [script, code].reduce((sum, text) => sum + gzipSync(text).length, 0);
  if (bytes > BUDGET_BYTES)
    throw new Error(`the first load of ${name} has ${bytes} bytes compressed, more than ${BUDGET_BYTES}`);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  write(out, 'script', 'js', script);
  write(out, 'style', 'css', code);
  copyFileSync(join(root, 'widgets', 'icon.svg'), join(out, 'icon.svg'));
  writeFileSync(join(out, 'licenses.txt'), licencesOf(Object.keys(metafile.inputs)));
}

function write(folder, name, extension, text) {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  writeFileSync(join(folder, `${name}-${hash}.${extension}`), text);
}

/** The licence of each package that the files belong to. */
function licencesOf(files) {
  const names = files.map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(names.flat())]
    .sort()
    .map((name) => {
      const licence = readdirSync(join(modules, name)).find((file) => /^licen[cs]e/i.test(file));
      if (licence === undefined) throw new Error(`${name} has no licence file`);
      return `${name}\n\n${readFileSync(join(modules, name, licence), 'utf8')}`;
    })
    .join('\n\n');
}
