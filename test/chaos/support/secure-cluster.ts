import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodesOf, type Node } from '../../../scripts/lib/eventstore-nodes.mjs';
import { issue, newPair } from '../../support/http/certificate-authority.js';
import { canPartition } from './partition.js';

const HOSTS = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;
const PORT = 24_113;
const FIRST_GID = 24_113;
/** The default credentials of a node. */
const CREDENTIALS = 'admin:changeit';

export interface SecureCluster {
  readonly nodes: readonly Node[];
  /** The `esdb://` URL with the addresses of all nodes. */
  readonly url: string;
  readonly authorization: string;
}

/** Prepares three nodes with TLS, users and an address each, without starting them. */
export function secureCluster(dir: string): SecureCluster {
  const tls = certificates(dir);
  const firstGid = canPartition() ? FIRST_GID : null;
  const nodes = nodesOf({
    size: HOSTS.length,
    port: PORT,
    dir,
    inMemory: false,
    hosts: HOSTS,
    tls,
    firstGid,
  });
  const options = `?tls=true&tlsCAFile=${tls.file}`;
  const url = `esdb://${CREDENTIALS}@${nodes.map(({ address }) => address).join(',')}${options}`;
  const authorization = `Basic ${Buffer.from(CREDENTIALS).toString('base64')}`;
  return { nodes, url, authorization };
}

function certificates(dir: string): {
  readonly args: readonly string[];
  readonly ca: string;
  readonly file: string;
} {
  const authorities = join(dir, 'authorities');
  mkdirSync(authorities);
  const authority = issue(newPair(), { name: 'Test authority', authority: true });
  const node = issue(newPair(), { name: 'eventstoredb-node', hosts: HOSTS }, authority);
  const file = join(authorities, 'ca.crt');
  const [certificate, key] = [join(dir, 'node.crt'), join(dir, 'node.key')];
  writeFileSync(file, authority.cert);
  writeFileSync(certificate, node.cert);
  writeFileSync(key, node.key, { mode: 0o600 });
  return {
    args: [
      `--certificate-file=${certificate}`,
      `--certificate-private-key-file=${key}`,
      `--trusted-root-certificates-path=${authorities}`,
    ],
    ca: authority.cert,
    file,
  };
}
