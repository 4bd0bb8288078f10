import type { Random } from '../fuzz/random.js';
import type { TamperingStage } from './stage.js';

/** Tamperings of one kind, several at a time. */
export interface Group {
  /** Of all tamperings, in hundredths. */
  readonly percent: number;
  /** Made before it is checked whether each of them is named. */
  readonly atOnce: number;
  /** The service refuses to work meanwhile, and is ready again afterwards. */
  readonly stops?: true;
  /** The database of the service remains as it was. */
  readonly onCopies?: true;
  /** Tampers at most `count` times, checks, and leaves the database as it was. Returns what was done, a name for each. */
  run(stage: TamperingStage, random: Random, count: number): Promise<readonly string[]>;
}
