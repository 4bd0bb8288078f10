import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { WalletsView } from '../views/wallets.js';
import { IsWalletOfAnother } from './is-wallet-of-another.js';

@QueryHandler(IsWalletOfAnother)
export class IsWalletOfAnotherHandler implements IQueryHandler<IsWalletOfAnother> {
  constructor(private readonly wallets: WalletsView) {}

  execute({ userId, address }: IsWalletOfAnother): Promise<boolean> {
    return this.wallets.isOfAnother(userId, address);
  }
}
