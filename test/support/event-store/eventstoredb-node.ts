import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import featureMessages from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';

export interface Append {
  readonly call: ServerDuplexStream<messages.BatchAppendReq, messages.BatchAppendResp>;
  readonly request: messages.BatchAppendReq;
}

type Respond = (error: null, message: unknown) => void;

/** Speaks as much of a server's protocol as an append needs, to play what a real one does too rarely. */
export class ScriptedNode {
  readonly appends: Append[] = [];
  port = 0;
  private readonly server = new Server();

  static async start(): Promise<ScriptedNode> {
    const node = new ScriptedNode();
    node.server.addService(streams.StreamsService as never, {
      batchAppend: (call: Append['call']) => {
        call.on('data', (request: messages.BatchAppendReq) => node.appends.push({ call, request }));
        call.on('error', () => undefined);
      },
    });
    node.server.addService(features.ServerFeaturesService as never, {
      getSupportedMethods: (_call: unknown, respond: Respond) => {
        const method = new featureMessages.SupportedMethod();
        method.setServiceName('event_store.client.streams.streams');
        method.setMethodName('batchappend');
        const methods = new featureMessages.SupportedMethods();
        methods.setEventStoreServerVersion('24.6.0');
        methods.addMethods(method);
        respond(null, methods);
      },
    });
    await node.listen();
    return node;
  }

  private async listen(): Promise<void> {
    this.port = await new Promise<number>((resolve, reject) => {
      this.server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
  }

  stop(): void {
    this.server.forceShutdown();
  }
}

/** Responds that an append is done. */
export function confirm({ call, request }: Append): void {
  const success = new messages.BatchAppendResp.Success();
  success.setCurrentRevision('0');
  const position = new shared.AllStreamPosition();
  position.setCommitPosition('1');
  position.setPreparePosition('1');
  success.setPosition(position);
  const response = new messages.BatchAppendResp();
  response.setCorrelationId(request.getCorrelationId());
  response.setStreamIdentifier(request.getOptions()!.getStreamIdentifier());
  response.setSuccess(success);
  call.write(response);
}
