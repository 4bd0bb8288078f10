/** What every command on a merchant answers. */
export interface MerchantChanged {
  /** Position for which `merchants.directory` can be awaited; null when there was nothing to change. */
  readonly position: string | null;
}
