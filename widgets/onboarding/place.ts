export type DocumentKind = 'passport' | 'id_card' | 'licence';

/** The progress of a person that the server does not store. It contains no typed data. */
export interface Place {
  readonly session?: string;
  /** The id that binds codes to this tab. */
  readonly browser?: string;
  /** The epoch ms at which a code was sent; absent while none is expected. */
  readonly codeSentAt?: number;
  /** True if the code that was sent has 18 digits. */
  readonly longCode?: boolean;
  readonly document?: DocumentKind;
  /** True while the person changes confirmed details. */
  readonly changing?: true;
}

/** Stores a user's progress in this tab, for a reload. Without storage, it lasts until the reload. */
export class PlaceKeeper {
  private place: Place;

  constructor(private readonly userId: string) {
    this.place = this.kept();
    if (this.place.browser === undefined) this.change({ browser: nonce() });
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

function nonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
