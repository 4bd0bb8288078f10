import { Query, QueryBus, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { ExistingUser } from '../domain/user.js';
import { WalletsView } from '../views/wallets.js';
import { FindUser } from './find-user.js';

/** The merchant's user whose issuer wallet is at that address, in either letter case; null when there is none. */
export class FindUserByWallet extends Query<ExistingUser | null> {
  constructor(
    readonly merchantId: string,
    readonly address: string,
  ) {
    super();
  }
}

@QueryHandler(FindUserByWallet)
export class FindUserByWalletHandler implements IQueryHandler<FindUserByWallet> {
  constructor(
    private readonly wallets: WalletsView,
    private readonly queryBus: QueryBus,
  ) {}

  async execute({ merchantId, address }: FindUserByWallet): Promise<ExistingUser | null> {
    const userId = await this.wallets.ownerOf(merchantId, address);
    return userId === null ? null : this.queryBus.execute(new FindUser(merchantId, userId));
  }
}
