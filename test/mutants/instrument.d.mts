interface File {
  readonly name: string;
  readonly content: string;
}

/** Lines and columns count from 0. */
interface Position {
  readonly line: number;
  readonly column: number;
}

export function instrument(files: readonly (File & { readonly mutate: true })[]): Promise<{
  readonly files: readonly File[];
  readonly mutants: readonly {
    readonly id: string;
    readonly fileName: string;
    readonly location: { readonly start: Position; readonly end: Position };
    readonly replacement: string;
  }[];
}>;
