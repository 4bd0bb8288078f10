import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { WalletsView } from '../views/wallets.js';

/** Whether a wallet is of a user other than this one, of whatever merchant. Looks at activated users alone. */
export class IsWalletOfAnother extends Query<boolean> {
  constructor(
    readonly userId: string,
    readonly address: string,
  ) {
    super();
  }
}

@QueryHandler(IsWalletOfAnother)
export class IsWalletOfAnotherHandler implements IQueryHandler<IsWalletOfAnother> {
  constructor(private readonly wallets: WalletsView) {}

  execute({ userId, address }: IsWalletOfAnother): Promise<boolean> {
    return this.wallets.isOfAnother(userId, address);
  }
}
