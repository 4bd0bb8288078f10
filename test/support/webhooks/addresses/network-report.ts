import { NETWORK_HOSTS } from './hostile-names.js';
import { publicAddresses } from './hostile-addresses.js';
import type { OwnNetwork } from './own-network.js';
import { fileURLToPath } from 'node:url';

/** WEBHOOK_TIMEOUT_MS in the test network. */
export const TIMEOUT_MS = 4500;
/** For what is meant to time out. */
export const HASTY_MS = 1500;
export const ALLOWED_CIDRS = '10.1.0.0/16,fd00:1::/32';

/** One POST through the service's own sender. */
export interface Posted {
  readonly url: string;
  /** The status of the response, or where it broke. */
  readonly outcome: number | string;
  /** For the merchant. */
  readonly error: string | null;
  /** For the operator: what was logged meanwhile. */
  readonly logged: readonly string[];
  readonly ms: number;
  /** The addresses of connections meanwhile. */
  readonly reached: readonly string[];
}

export const NETWORK: OwnNetwork = {
  script: fileURLToPath(new URL('./network.ts', import.meta.url)),
  hosts: NETWORK_HOSTS,
  certifiedFor: [
    ...['DNS:*.receiver.example', 'DNS:db', 'DNS:cache', 'IP:10.1.2.3', 'IP:fd00:1::1'],
    ...publicAddresses.map((each) => `IP:${each}`),
  ],
  timeoutMs: 120_000,
};
