export const PREFIX: string;
export function sweepOrphans(): Promise<void>;
export function removeRun(folder: string): Promise<void>;
export function processesIn(folder: string): number[];
/** Includes the processes themselves. */
export function descendantsOf(pids: readonly number[], except?: ReadonlySet<number>): number[];
