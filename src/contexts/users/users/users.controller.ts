import { Field } from '../../../platform/dto/field.js';
import { text } from '../../../platform/dto/rules.js';
import { readEmail, readExternalId, type NewProfile } from './profile.service.js';
import { readPhoneNumber } from './phone-number.service.js';
import { Controller, Get, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import {
  Cause,
  MerchantId,
  Ticket,
  UuidParam,
  ValidBody,
  ValidQuery,
} from '../../../platform/http/decorators.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { CreateUser } from './users.commands.js';
import { userJson, UserResponse } from './user-json.view.js';
import { UsersView } from './users.view.js';

export class NewUser implements NewProfile {
  @Field(text({}, readPhoneNumber), {
    description: 'Plausible E.164: a plus, the country code and the number. Unique within the merchant.',
    examples: ['+15550001111'],
  })
  phone_number!: string;

  @Field(text({}, readEmail), {
    optional: true,
    nullable: true,
    description: 'Trimmed and lower-cased; blank is kept as null.',
    examples: ['ada@example.com'],
  })
  email?: string | null;

  @Field(text({}, readExternalId), {
    optional: true,
    nullable: true,
    description: "The merchant's own id: 1 to 255 characters after trimming. Unique within the merchant.",
    examples: ['customer-7'],
  })
  external_id?: string | null;
}

class WalletQuery {
  // An invalid address gets 404, as an unknown one does.
  @Field(text({ minLength: 1 }, (address) => address), {
    description: 'The issuer wallet address, in either letter case.',
  })
  address!: string;
}

@Controller('merchants/v1/users')
export class UsersController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly users: UsersView,
  ) {}

  @Post()
  @ApiRoute({
    id: 'createUser',
    tag: 'Users',
    summary: 'Create a user',
    description:
      'The response is the same whether or not the phone number belongs to an existing account. An Idempotency-Key makes repeats safe.',
    responses: {
      201: [UserResponse, 'The user was created, in onboarding.'],
      400: 'The JSON or the Idempotency-Key is malformed.',
      422: 'A field is missing, malformed, or taken by another user of the merchant.',
    },
  })
  async create(
    @MerchantId() merchantId: string,
    @ValidBody() body: NewUser,
    @Ticket() ticket: IdempotencyTicket,
    @Cause() cause: EventMetadata,
  ): Promise<string> {
    return this.commandBus.execute(new CreateUser(merchantId, body, ticket, cause));
  }

  @Get('by_issuer_wallet_address')
  @ApiRoute({
    id: 'getUserByIssuerWalletAddress',
    tag: 'Users',
    summary: 'Find the user who has a wallet',
    responses: {
      200: [UserResponse, 'The user whose wallet is at the address.'],
      400: 'The parameter address is missing.',
      404: 'No user of the merchant has a wallet at the address.',
    },
  })
  async getByWallet(
    @MerchantId() merchantId: string,
    @ValidQuery() { address }: WalletQuery,
  ): Promise<UserResponse> {
    const userId = await this.users.idOfWallet(merchantId, address);
    return { user: userJson(await this.users.get(merchantId, userId)) };
  }

  @Get(':id')
  @ApiRoute({
    id: 'getUser',
    tag: 'Users',
    summary: 'Get a user',
    responses: { 200: [UserResponse, 'The user.'], 404: 'The merchant has no such user.' },
  })
  async get(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'User') userId: string,
  ): Promise<UserResponse> {
    return { user: userJson(await this.users.get(merchantId, userId)) };
  }
}
