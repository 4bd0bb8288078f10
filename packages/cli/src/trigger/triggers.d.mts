/** The trigger of a webhook type. */
export interface Trigger {
  readonly does: string;
  readonly takes: Readonly<Record<string, string>>;
}

export const TRIGGERS: Readonly<Record<string, Trigger>>;
