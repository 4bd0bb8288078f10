export interface PersonAtThePage {
  readonly widgetUrl: string;
  readonly merchantId: string;
  readonly user: { readonly id: string; readonly phone_number: string };
  readonly first_name: string;
  readonly last_name: string;
}

export function handInIdentity(person: PersonAtThePage): Promise<{ state(): Promise<unknown> }>;
