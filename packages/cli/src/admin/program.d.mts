/** Throws Usage for a command line that the admin API has not. */
export function parse(argv: readonly string[]): object;
export function runAdmin(argv: readonly string[], program?: string): Promise<void>;
