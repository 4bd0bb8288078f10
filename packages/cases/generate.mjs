// Writes cases.json: what every client must do, in any language. `node packages/cases/generate.mjs`, with openssl.
// Expected values never come from a client. They come from node:crypto by hand, with which openssl must agree, from
// standardwebhooks, and from the contract's rules.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { attempts } from './generator/attempts.mjs';
import { calls } from './generator/calls.mjs';
import { errors, hints, results } from './generator/responses.mjs';
import { ownIds } from './generator/own-ids.mjs';
import { pages } from './generator/pages.mjs';
import { reconciliations } from './generator/reconciliations.mjs';
import { retries } from './generator/retries.mjs';
import { addressSignatures, merchantSignatures, querySignatures } from './generator/signatures.mjs';
import { webhooks } from './generator/webhooks.mjs';

const cases = {
  merchant_signatures: merchantSignatures(),
  address_signatures: addressSignatures(),
  query_signatures: querySignatures(),
  own_ids: ownIds(),
  retries,
  attempts,
  pages,
  webhooks: webhooks(),
  results,
  errors,
  hints,
  reconciliations,
  calls: calls(),
};
for (const [kind, all] of Object.entries(cases)) {
  const names = all.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new Error(`two cases of ${kind} have one name`);
}
const [given] = process.argv.slice(2).filter((each) => !each.startsWith('--'));
const file = given ?? fileURLToPath(new URL('cases.json', import.meta.url));
const options = await resolveConfig(fileURLToPath(import.meta.url));
writeFileSync(file, await format(JSON.stringify(cases), { ...options, parser: 'json' }));
