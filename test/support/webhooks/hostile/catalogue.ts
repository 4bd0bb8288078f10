import { BROKEN_TLS } from './broken-tls.js';
import { CONNECTIONS } from './connections.js';
import { ENDLESS } from './endless.js';
import { MALFORMED } from './malformed.js';
import type { HostileReceiver } from './receiver.js';
import { RETRY_AFTER } from './retry-after.js';
import { SLOW } from './slow.js';

/** Every kind of receiver that a delivery must survive, with what must come of it. */
export const HOSTILE_RECEIVERS: readonly HostileReceiver[] = [
  ...CONNECTIONS,
  ...SLOW,
  ...ENDLESS,
  ...MALFORMED,
  ...BROKEN_TLS,
  ...RETRY_AFTER,
];
