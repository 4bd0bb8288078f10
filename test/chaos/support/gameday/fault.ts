import type { Stage } from './stage.js';

/** A fault of an installation, its alerts, and its end by the runbook. */
export interface Fault {
  readonly name: string;
  /** All alerts that have to arrive. No other may. */
  readonly alerts: readonly string[];
  /** The time that alerts may last after the end; three minutes by default. */
  readonly resolvedMs?: number;
  begin(stage: Stage): Promise<void>;
  /** Follows the runbook. */
  end(stage: Stage): Promise<void>;
}

/** Faults that follow each other in one installation. */
export interface Faults {
  readonly start: () => Promise<Stage>;
  readonly prepare?: (stage: Stage) => Promise<void>;
  readonly faults: readonly Fault[];
}
