import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodesOf, type Node } from '../../../scripts/lib/eventstore-nodes.mjs';
import type { ServiceOptions } from '../../../bench/support/service.js';
import { issue, newPair } from '../../support/http/certificate-authority.js';
import { withFileAt } from './mounted-file.js';
import { canPartition } from './partition.js';

const HOSTS = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;
const NAME = 'cluster.test';
const PORT = 24_113;
const FIRST_GID = 24_113;
/** Of a node that was never configured otherwise. */
const CREDENTIALS = 'admin:changeit';

export interface SecureCluster {
  readonly nodes: readonly Node[];
  /** Its `esdb://` URL by the addresses of the nodes. */
  readonly url: string;
  /** What the service needs to find the nodes: by a host name that they share, where this user can give them one. */
  readonly service: { readonly url: string } & Pick<ServiceOptions, 'wrap'>;
  /** The header `authorization` of an HTTP request to a node. */
  readonly authorization: string;
}

/** Three nodes on the disk with an address each, TLS and users. Nothing is started. */
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
  const named = { url: `esdb+discover://${CREDENTIALS}@${NAME}:${PORT}${options}`, wrap: withHosts(dir) };
  const authorization = `Basic ${Buffer.from(CREDENTIALS).toString('base64')}`;
  return { nodes, url, service: canPartition() ? named : { url }, authorization };
}

/** Runs a command for which the shared host name has the addresses of all nodes. */
function withHosts(dir: string): ServiceOptions['wrap'] {
  const file = join(dir, 'hosts');
  writeFileSync(file, [...HOSTS.map((host) => `${host} ${NAME}`), '127.0.0.1 localhost', ''].join('\n'));
  return (argv) => withFileAt('/etc/hosts', file, argv);
}

function certificates(dir: string): {
  readonly args: readonly string[];
  readonly ca: string;
  readonly file: string;
} {
  const authorities = join(dir, 'authorities');
  mkdirSync(authorities);
  const authority = issue(newPair(), { name: 'Test authority', authority: true });
  const node = issue(newPair(), { name: 'eventstoredb-node', hosts: [...HOSTS, NAME] }, authority);
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
