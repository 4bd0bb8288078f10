export type DocumentKind = 'passport' | 'id_card' | 'licence';

/** Where a person is that the server does not know; nothing that the person typed. */
export interface Place {
  readonly session?: string;
  /** Epoch ms; there while a code is waited for. */
  readonly codeSentAt?: number;
  readonly document?: DocumentKind;
  /** Details that are confirmed are changed. */
  readonly changing?: true;
}

/** Keeps the place of a user over a reload, in this tab alone; where nothing can be kept, until the reload. */
export class PlaceKeeper {
  private place: Place;

  constructor(private readonly userId: string) {
    this.place = this.kept();
  }

  read(): Place {
    return this.place;
  }

  change(change: { readonly [Key in keyof Place]: Place[Key] | undefined }): void {
    const changed = { ...this.place, ...change };
    this.place = Object.fromEntries(
      Object.entries(changed).filter(([, value]) => value !== undefined),
    ) as Place;
    try {
      sessionStorage.setItem(this.name, JSON.stringify(this.place));
    } catch {
      // A browser that keeps nothing for framed or private pages.
    }
  }

  private kept(): Place {
    try {
      return (JSON.parse(sessionStorage.getItem(this.name) ?? '{}') ?? {}) as Place;
    } catch {
      return {};
    }
  }

  private get name(): string {
    return `onboarding ${this.userId}`;
  }
}
