/** Where a person is on the page, kept over a reload in this tab alone. */
export interface Place {
  readonly session: string;
  readonly pair?: string;
  readonly amount?: string;
  /** Of the order that is being created: created twice, it is one order. */
  readonly request?: string;
  readonly order?: string;
}

/** `link` distinguishes the pages that this tab was opened with. Where nothing can be kept, the place is lost at a reload. */
export class PlaceKeeper {
  constructor(private readonly link: string) {}

  read(): Place | null {
    try {
      return JSON.parse(sessionStorage.getItem(this.name) ?? 'null') as Place | null;
    } catch {
      return null;
    }
  }

  write(place: Place): void {
    try {
      sessionStorage.setItem(this.name, JSON.stringify(place));
    } catch {
      // A browser that keeps nothing for framed or private pages.
    }
  }

  private get name(): string {
    return `pay ${this.link}`;
  }
}
