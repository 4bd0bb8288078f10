/** How a type of the webhook catalogue is triggered. */
export interface Trigger {
  readonly does: string;
  readonly takes: Readonly<Record<string, string>>;
}

export const TRIGGERS: Readonly<Record<string, Trigger>>;
