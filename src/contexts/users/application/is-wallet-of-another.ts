import { Query } from '@nestjs/cqrs';

/** Whether a wallet is of a user other than this one, of whatever merchant. Looks at activated users alone. */
export class IsWalletOfAnother extends Query<boolean> {
  constructor(
    readonly userId: string,
    readonly address: string,
  ) {
    super();
  }
}
