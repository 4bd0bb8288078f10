/**
 * Makes one file of the built service and its packages, `dist/bundle/disburse.cjs`, so that a start reads and compiles one
 * file instead of two thousand; packages of providers are not in it. `dist/main.js` runs the service in it and `dist/cli.js`
 * the operator's programs; `dist/sandbox` has both without the bundle.
 */
import { build } from 'esbuild';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const out = join(dist, 'bundle');

/** Optional packages that are not installed stay as they are written: their use at run time fails. */
const optionalPackages = {
  name: 'optional-packages',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === 'resolved' || path.startsWith('node:')) return undefined;
      const found = await resolve(path, { kind, importer, resolveDir, pluginData: 'resolved' });
      return found.errors.length > 0 ? { path, external: true } : found;
    });
  },
};

/** The document is written by the build: a process needs none of the decorators that describe it, which take long to load. */
const noDocument = {
  name: 'no-document',
  setup({ onResolve }) {
    onResolve({ filter: /^@nestjs\/swagger$/ }, () => ({
      path: join(root, 'node_modules', '@nestjs', 'swagger', 'dist', 'extra', 'swagger-shim.js'),
    }));
  },
};

/** A module's own address: that of the file it was built to, not of the bundle, so that it finds the files next to it. */
const ownAddresses = {
  name: 'own-addresses',
  setup({ onLoad }) {
    onLoad({ filter: /dist[/\\].*\.js$/ }, ({ path }) => {
      if (relative(dist, path).startsWith('..')) return undefined;
      const file = JSON.stringify(relative(dist, path).replaceAll('\\', '/'));
      return {
        contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', `__addressOf(${file})`),
        loader: 'js',
      };
    });
    // Nest requires some packages in a way that bundlers do not see; a second copy of them would be loaded.
    onLoad({ filter: /@nestjs[/\\].*\.js$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8').replaceAll(
        /createRequire\(import\.meta\.url\)\('/g,
        "require('",
      );
      return { contents, loader: 'js' };
    });
  },
};

/** Not bundled, because they were a third of the bundle: a process loads them from node_modules at the first use. */
const PROVIDERS = ['twilio', 'stripe', '@onfido/api'];
const PROGRAMS = ['main', 'cli'];
const sources = join(dist, 'sandbox');
const bundle = join(out, 'disburse.cjs');
if (!existsSync(sources)) throw new Error('dist/sandbox is missing: this runs after nest build');
rmSync(out, { recursive: true, force: true });

await build({
  // Only what the chosen program imports is evaluated.
  stdin: {
    contents: PROGRAMS.map((name) => `export const ${name} = () => import('./${name}.js');`).join('\n'),
    resolveDir: sources,
  },
  outfile: bundle,
  bundle: true,
  external: PROVIDERS,
  // V8 refuses import() in a script; esbuild then writes require().
  supported: { 'dynamic-import': false },
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  // Names of classes are what logs and dependency injection show; see below for those of functions.
  keepNames: true,
  minifySyntax: true,
  // One byte per character: the file is read without being decoded.
  charset: 'ascii',
  legalComments: 'linked',
  logLevel: 'error',
  plugins: [noDocument, optionalPackages, ownAddresses],
  define: { 'import.meta.url': '__bundleAddress' },
  // One function, so that V8 reads the file as it is, without a copy.
  banner: {
    js: [
      '(function (require, module, __filename, __dirname) {',
      'const __addressOf = (file) => require("node:url").pathToFileURL(require("node:path").join(__dirname, "..", file)).href;',
      'const __bundleAddress = require("node:url").pathToFileURL(__filename).href;',
    ].join('\n'),
  },
  footer: { js: '})' },
});
// Declared functions and methods keep their names as it is; setting those of all others, of closures each time that they are
// created, costs 1.5 % of a report and a sixth of a start. Only stacks would show them.
const SETS_NAME = 'var __name = (target, value) => __defProp(';
const text = readFileSync(bundle, 'latin1');
if (!text.includes(SETS_NAME) || !text.includes('__name(this, '))
  throw new Error('esbuild sets names in another way than it did');
writeFileSync(
  bundle,
  text
    .replaceAll('__name(this, ', '__nameOfClass(this, ')
    .replace(SETS_NAME, 'var __name = (target) => target, __nameOfClass = (target, value) => __defProp('),
  'latin1',
);
// Last of the build: where these are, it is complete.
for (const name of PROGRAMS) copyFileSync(join(root, 'scripts', 'bundled.mjs'), join(dist, `${name}.js`));
