// Builds the client: types from the service's OpenAPI document (`npm run build` in the root writes it), then the compiler.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const document = JSON.parse(readFileSync(here('../../dist/openapi/sandbox.json'), 'utf8'));
/** Selects the paths of merchants; the admin API is for operators. */
const isMerchants = (path) => /^\/(merchants\/)?v1\//.test(path);
document.paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => isMerchants(path)));
// `api_key` is added to the query by the client.
// Members with a default are optional in a request.
const types = await openapiTS(document, {
  alphabetize: true,
  defaultNonNullable: false,
  emptyObjectsUnknown: true,
});
mkdirSync(here('src/generated'), { recursive: true });
writeFileSync(here('src/generated/document.ts'), `// Written by build.mjs.\n${astToString(types)}`);
// The build goes to another folder until it is complete, so that an interrupted build leaves the former one.
const next = here('dist-next');
rmSync(next, { recursive: true, force: true });
/** CommonJS has a separate copy, with types: TypeScript's node16 lets it require no module. */
const commonJs = ['--module', 'commonjs', '--moduleResolution', 'bundler', '--outDir', `${next}/cjs`];
for (const options of [['--outDir', next], commonJs]) {
  const args = [here('../../node_modules/typescript/bin/tsc'), '-p', here('.'), ...options];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
}
writeFileSync(`${next}/cjs/package.json`, '{ "type": "commonjs" }\n');
rmSync(here('dist'), { recursive: true, force: true });
renameSync(next, here('dist'));
