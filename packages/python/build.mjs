// Generates src/disburse/generated from the service's OpenAPI document and the groups of the TypeScript client.
// `npm run build` in the root writes that document. Needs no Python.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { clientMethods } from './generator/client-methods.mjs';
import { operationsOf } from './generator/operations.mjs';
import { typesOf } from './generator/types.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const HEADER = '# Written by build.mjs.\n';
const document = JSON.parse(readFileSync(here('../../dist/openapi/sandbox.json'), 'utf8'));
/** Selects the paths of merchants; the admin API is for operators. */
const isMerchants = (path) => /^\/(merchants\/)?v1\//.test(path);
document.paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => isMerchants(path)));

const files = { '__init__.py': '"""What the OpenAPI document of the service has."""\n' };
files['types.py'] = typesOf(document);
for (const [name, Class] of [
  ['merchant', 'MerchantOperations'],
  ['exchange', 'ExchangeOperations'],
])
  files[`${name}.py`] = operationsOf(document, clientMethods(here(`../sdk/src/${name}-client.ts`)), Class);

const folder = here('src/disburse/generated');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(files)) writeFileSync(`${folder}/${name}`, HEADER + text);
