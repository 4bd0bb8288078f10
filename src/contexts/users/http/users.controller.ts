import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Cause, MerchantId, Ticket, UuidParam } from '../../../platform/http/decorators.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { requiredParameter, type Query as QueryString } from '../../../platform/http/query.js';
import { Reply } from '../../../platform/http/reply.js';
import { requireObject } from '../../../platform/http/validation.js';
import { CreateUser } from '../application/create-user.js';
import type { ExistingUser } from '../domain/user.js';
import { userJson, type UserJson } from '../views/user-json.js';
import { UsersView } from '../views/users.js';

/** Users (contract.md 8), but for the balance, which is the payouts context's. */
@Controller('merchants/v1/users')
export class UsersController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly users: UsersView,
  ) {}

  @Post()
  async create(
    @MerchantId() merchantId: string,
    @Body() body: unknown,
    @Ticket() ticket: IdempotencyTicket,
    @Cause() cause: EventMetadata,
  ): Promise<Reply> {
    const fields = requireObject(body);
    return new Reply(201, await this.commandBus.execute(new CreateUser(merchantId, fields, ticket, cause)));
  }

  @Get('by_issuer_wallet_address')
  async getByWallet(
    @MerchantId() merchantId: string,
    @Query() query: QueryString,
  ): Promise<{ user: UserJson }> {
    const address = requiredParameter(query, 'address');
    return answer(await this.users.ofWallet(merchantId, address));
  }

  @Get(':id')
  async get(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'User') userId: string,
  ): Promise<{ user: UserJson }> {
    return answer(await this.users.find(merchantId, userId));
  }
}

function answer(user: ExistingUser | null): { user: UserJson } {
  if (user === null) throw DomainError.notFound('User');
  return { user: userJson(user) };
}
