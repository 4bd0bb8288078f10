export const PREFIX: string;
export function sweepOrphans(): Promise<void>;
export function removeRun(folder: string): Promise<void>;
