// Verifies the proof of a payout (GET /merchants/v1/payouts/{id}/proof) with the public key alone: no package, no network.
//   node verify-proof.mjs proof.json key.pem
// Take the key from somewhere else than the proof: `npm run audit -- key` prints it, and the first head that you kept has it.
// Rules: docs/contract.md 10.9, docs/auditing.md. The tree is that of RFC 9162 with SHA-256.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const HASH = /^[0-9a-f]{64}$/;

/**
 * Returns what is proven: the events as they are stored, and the head that covers them. Throws an Error that says why not.
 * @param proof the member `proof` of the response
 * @param pem the public key that you know
 */
export function verifyProof(proof, pem) {
  const head = verifyHead(proof.head, pem);
  if (!Array.isArray(proof.events) || proof.events.length === 0) throw new Error('there are no events');
  let before = -1;
  const events = proof.events.map(({ leaf, index, path }, place) => {
    if (typeof leaf !== 'string') throw new Error('a leaf is no text');
    if (!Number.isSafeInteger(index) || index <= before) throw new Error('the events are not in order');
    before = index;
    const hash = sha256(Buffer.from([0]), Buffer.from(leaf));
    if (!leadsTo(head.root, hash, index, head.size, path))
      throw new Error(`event ${place} is not under the root of the head`);
    const event = JSON.parse(leaf);
    if (event.stream !== `payout-${proof.payout_id}`) throw new Error(`event ${place} is of another payout`);
    if (event.revision !== place) throw new Error(`event ${place} is missing`);
    return event;
  });
  return { events, head };
}

/** Returns the head without its signature. Throws an Error when the key did not sign it. */
export function verifyHead(head, pem) {
  const { log_id, size, root, position, signed_at, key_id, previous, signature, public_key } = head;
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key is no Ed25519 key');
  const der = key.export({ type: 'spki', format: 'der' });
  if (key_id !== sha256(der).toString('hex').slice(0, 16))
    throw new Error('the head is signed with another key');
  if (public_key !== undefined && public_key !== key.export({ type: 'spki', format: 'pem' }))
    throw new Error('the head shows another key');
  if (!Number.isSafeInteger(size) || !HASH.test(root)) throw new Error('the head is malformed');
  if (!/^[0-9a-f]{128}$/.test(signature)) throw new Error('the signature is malformed');
  // RFC 8785: members in the order of their names, no white space.
  const members = { key_id, kind: 'disburse.head.v1', log_id, position, previous, root, signed_at, size };
  const text = JSON.stringify(members);
  if (!verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex')))
    throw new Error('the signature of the head is wrong');
  return { log_id, size, root, position, signed_at, previous };
}

/** RFC 9162, 2.1.3.2. */
function leadsTo(root, leaf, index, size, path) {
  if (!Array.isArray(path) || index >= size) return false;
  let [first, last, hash] = [index, size - 1, leaf];
  for (const text of path) {
    if (!HASH.test(text) || last === 0) return false;
    const sibling = Buffer.from(text, 'hex');
    if (first % 2 === 1 || first === last) {
      hash = node(sibling, hash);
      while (first % 2 === 0 && first !== 0) [first, last] = [first / 2, Math.floor(last / 2)];
    } else {
      hash = node(hash, sibling);
    }
    [first, last] = [Math.floor(first / 2), Math.floor(last / 2)];
  }
  return last === 0 && hash.toString('hex') === root;
}

function node(left, right) {
  return sha256(Buffer.from([1]), left, right);
}

function sha256(...parts) {
  return createHash('sha256').update(Buffer.concat(parts)).digest();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [proofFile, keyFile] = process.argv.slice(2);
  if (keyFile === undefined) {
    console.error('usage: node verify-proof.mjs proof.json key.pem');
    process.exit(64);
  }
  try {
    const { proof } = JSON.parse(readFileSync(proofFile, 'utf8'));
    const { events, head } = verifyProof(proof, readFileSync(keyFile, 'utf8'));
    console.log(
      `proven: payout ${proof.payout_id}, among the first ${head.size} events of the log ${head.log_id}`,
    );
    for (const { position, type, recorded_at } of events)
      console.log(`  ${recorded_at}  ${type} at position ${position}`);
    console.log(`signed at ${head.signed_at}`);
  } catch (error) {
    console.error(`NOT proven: ${error.message}`);
    process.exit(1);
  }
}
