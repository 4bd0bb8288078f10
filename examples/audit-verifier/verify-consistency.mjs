// Verifies that a signed head extends one that you kept (GET /merchants/v1/audit/consistency?from=SIZE), with the public key
// alone: no package, no network.
//   node verify-consistency.mjs consistency.json key.pem kept-head.json
// Take key and kept head from somewhere else than the proof. Rules: docs/contract.md 10.11; RFC 9162, 2.1.4.2.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { verifyHead } from './verify-proof.mjs';

const HASH = /^[0-9a-f]{64}$/;

/**
 * Returns the later head. Throws an Error that says why it does not extend the kept one.
 * @param consistency the member `consistency` of the response
 * @param pem the public key that you know
 * @param kept the head that you kept
 */
export function verifyConsistency(consistency, pem, kept) {
  const head = verifyHead(consistency.head, pem);
  const { from, path } = consistency;
  if (kept.log_id !== head.log_id) throw new Error('the heads are of two logs');
  if (from !== kept.size) throw new Error('the proof is of another head than the one that was kept');
  if (!Number.isSafeInteger(from) || from < 1 || from > head.size)
    throw new Error('the kept head covers more events than the later one');
  if (!Array.isArray(path) || !path.every((hash) => HASH.test(hash)))
    throw new Error('the path is malformed');
  if (!continues(kept, head, path)) throw new Error('the later head does not extend the kept one');
  return head;
}

function continues(former, later, path) {
  if (former.size === later.size) return path.length === 0 && former.root === later.root;
  // The root of a complete tree is not part of the path: whoever verifies has it.
  const hashes = Number.isInteger(Math.log2(former.size)) ? [former.root, ...path] : path;
  if (hashes.length === 0) return false;
  let [first, last] = [former.size - 1, later.size - 1];
  while (first % 2 === 1) [first, last] = [Math.floor(first / 2), Math.floor(last / 2)];
  let [formerRoot, laterRoot] = [hashes[0], hashes[0]];
  for (const hash of hashes.slice(1)) {
    if (last === 0) return false;
    if (first % 2 === 1 || first === last) {
      [formerRoot, laterRoot] = [node(hash, formerRoot), node(hash, laterRoot)];
      while (first % 2 === 0 && first !== 0) [first, last] = [first / 2, Math.floor(last / 2)];
    } else {
      laterRoot = node(laterRoot, hash);
    }
    [first, last] = [Math.floor(first / 2), Math.floor(last / 2)];
  }
  return last === 0 && formerRoot === former.root && laterRoot === later.root;
}

function node(left, right) {
  const bytes = Buffer.concat([Buffer.from([1]), Buffer.from(left, 'hex'), Buffer.from(right, 'hex')]);
  return createHash('sha256').update(bytes).digest('hex');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [proofFile, keyFile, keptFile] = process.argv.slice(2);
  if (keptFile === undefined) {
    console.error('usage: node verify-consistency.mjs consistency.json key.pem kept-head.json');
    process.exit(64);
  }
  try {
    const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
    const kept = read(keptFile);
    const former = kept.head ?? kept;
    const head = verifyConsistency(read(proofFile).consistency, readFileSync(keyFile, 'utf8'), former);
    console.log(`proven: the head over ${head.size} events, signed at ${head.signed_at},`);
    console.log(`  extends the head over ${former.size} of the log ${head.log_id}`);
  } catch (error) {
    console.error(`NOT proven: ${error.message}`);
    process.exit(1);
  }
}
