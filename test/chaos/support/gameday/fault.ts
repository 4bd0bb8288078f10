import type { Stage } from './stage.js';

/** Something that goes wrong in an installation, the alerts of it, and what ends it. */
export interface Fault {
  readonly name: string;
  /** All alerts that have to arrive, and no other. */
  readonly alerts: readonly string[];
  /** How long after its end the alerts may last; three minutes by default. */
  readonly resolvedMs?: number;
  /** Breaks it. */
  begin(stage: Stage): Promise<void>;
  /** What the runbook says. */
  end(stage: Stage): Promise<void>;
}

/** Faults that follow each other in one installation. */
export interface Faults {
  readonly start: () => Promise<Stage>;
  /** What the installation has before the first. */
  readonly prepare?: (stage: Stage) => Promise<void>;
  readonly faults: readonly Fault[];
}
