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

/** What network.ts found. */
export interface NetworkReport {
  /** Without a guard: `reached` or the code of the failure, by host. */
  readonly unguarded: Readonly<
    Record<'addresses' | 'names' | 'localhost' | 'public', Readonly<Record<string, string>>>
  >;
  readonly hostile: readonly Posted[];
  readonly hostileOverHttp: readonly Posted[];
  readonly hostileInSandbox: readonly Posted[];
  readonly withUser: readonly Posted[];
  readonly names: readonly Posted[];
  readonly publicAddresses: readonly Posted[];
  readonly publicNames: readonly Posted[];
  readonly rebinding: {
    readonly registration: string | null;
    readonly registered: Posted;
    readonly afterCheck: Posted;
    readonly questionsOfOneConnect: number;
    readonly everyOther: readonly Posted[];
    readonly kept: readonly Posted[];
    readonly becomesGood: readonly Posted[];
    readonly stays: readonly Posted[];
  };
  /** DNS questions for A while sixteen connections to one name began together. */
  readonly questionsOfSixteen: number;
  /** The same for a name that is never resolved; a second one is queried 2 s after the first, unless it was given up. */
  readonly unansweredQuestions: number;
  readonly allDead: Posted;
  readonly unresponsive: Unresponsive;
  readonly unansweredShortNames: Unresponsive;
  readonly allowed: readonly Posted[];
  /** Sockets and queries that remain after a deadline. */
  readonly leftovers: readonly string[];
}

/** What others get while the names of some receivers are never resolved. */
interface Unresponsive {
  readonly other: Posted;
  /** One name resolved by the system and one file. */
  readonly ownMs: number;
  readonly outcomes: readonly string[];
  readonly unresponsiveMs: number;
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
