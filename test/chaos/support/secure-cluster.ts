import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodesOf, type Node } from '../../../scripts/lib/eventstore-nodes.mjs';
import type { ServiceOptions } from '../../../bench/support/service.js';
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
  const script = 'mount --bind "$0" /etc/hosts && exec "$@"';
  return (argv) => ({ command: 'unshare', args: ['-m', 'sh', '-c', script, file, ...argv] });
}

function certificates(dir: string): {
  readonly args: readonly string[];
  readonly ca: string;
  readonly file: string;
} {
  mkdirSync(join(dir, 'authorities'), { recursive: true });
  const authority = join(dir, 'authorities', 'ca.crt');
  const [authorityKey, key, request, certificate, extensions] = [
    'ca.key',
    'node.key',
    'node.csr',
    'node.crt',
    'extensions',
  ].map((name) => join(dir, name)) as [string, string, string, string, string];
  writeFileSync(
    extensions,
    `basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature,keyEncipherment
extendedKeyUsage=serverAuth,clientAuth
subjectAltName=${HOSTS.map((host) => `IP:${host}`).join()},DNS:${NAME}
`,
  );
  const pair = ['-newkey', 'rsa:2048', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...pair,
    '-days',
    '2',
    '-subj',
    '/CN=disburse-ca',
    '-keyout',
    authorityKey,
    '-out',
    authority,
  );
  openssl('req', ...pair, '-subj', '/CN=eventstoredb-node', '-keyout', key, '-out', request);
  const signed = [
    '-CA',
    authority,
    '-CAkey',
    authorityKey,
    '-CAcreateserial',
    '-days',
    '2',
    '-extfile',
    extensions,
  ];
  openssl('x509', '-req', '-in', request, ...signed, '-out', certificate);
  return {
    args: [
      `--certificate-file=${certificate}`,
      `--certificate-private-key-file=${key}`,
      `--trusted-root-certificates-path=${join(dir, 'authorities')}`,
    ],
    ca: readFileSync(authority, 'utf8'),
    file: authority,
  };
}

function openssl(...args: string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`);
}
