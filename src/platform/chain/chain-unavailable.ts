import { NotReady } from '../telemetry/health.js';

/** No node can be relied on now. The message holds no address: those of nodes often carry keys. */
export class ChainUnavailable extends NotReady {
  override readonly name = 'ChainUnavailable';
}
