import { Inject } from '@nestjs/common';
import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import { isUuid } from '../../../kernel/ids.js';
import { user, type ExistingUser } from '../domain/user.js';

/**
 * The user of that id under that merchant, null when there is none. It is folded from the user's own stream, so
 * that it shows every write at once, from any process, and no read model needs to hold personal data.
 */
export class FindUser extends Query<ExistingUser | null> {
  constructor(
    readonly merchantId: string,
    readonly userId: string,
  ) {
    super();
  }
}

@QueryHandler(FindUser)
export class FindUserHandler implements IQueryHandler<FindUser> {
  constructor(@Inject(COMMAND_LOOP) private readonly loop: CommandLoop) {}

  async execute({ merchantId, userId }: FindUser): Promise<ExistingUser | null> {
    if (!isUuid(userId)) return null;
    const state = await this.loop.show(user, userId.toLowerCase());
    return state.accountState === 'unknown' || state.merchantId !== merchantId ? null : state;
  }
}
