/** The tables of the ledger are not what the service left there: nothing is added and nothing is signed. */
export class LedgerChanged extends Error {
  override readonly name = 'LedgerChanged';
}

export interface SignedExtent {
  readonly size: number;
  /** hashOfHead. */
  readonly hash: string;
}
