// SmolLM2-135M behind /v1/chat/completions: node smollm.mjs NODE_LLAMA_CPP MODEL.gguf
// Listens on a free port of 127.0.0.1, prints its address, and ends with its standard input.
import http from "node:http";
import path from "node:path";
import {pathToFileURL} from "node:url";

const [folder, modelPath] = process.argv.slice(2);
const {getLlama, LlamaChatSession} = await import(pathToFileURL(path.join(folder, "dist", "index.js")).href);
// One thread: with several, they wait for each other where other programs are busy.
const llama = await getLlama({gpu: false, build: "never", skipDownload: true, logLevel: "error", maxThreads: 1});
const model = await llama.loadModel({modelPath});
const CONTEXT = 2048;
const context = await model.createContext({contextSize: CONTEXT, threads: 1});
const json = await llama.getGrammarFor("json");
const sequence = context.getSequence();
let last = Promise.resolve();

async function complete(asked) {
    const prompt = asked.messages.at(-1).content;
    const most = asked.max_tokens ?? 100;
    if (model.tokenize(prompt).length + most + 64 > CONTEXT)
        return [400, {error: {code: "context_length_exceeded", message: `maximum context length is ${CONTEXT} tokens`}}];
    await sequence.clearHistory();
    const before = sequence.tokenMeter.getState();
    const session = new LlamaChatSession({contextSequence: sequence, autoDisposeSequence: false});
    const {responseText, stopReason} = await session.promptWithMeta(prompt, {
        maxTokens: most, temperature: asked.temperature ?? 0, topP: asked.top_p, seed: asked.seed,
        grammar: asked.response_format ? json : undefined
    });
    const used = sequence.tokenMeter.diff(before);
    session.dispose();
    return [200, {
        id: "smollm", object: "chat.completion", model: path.basename(modelPath), system_fingerprint: "node-llama-cpp",
        choices: [{
            index: 0, message: {role: "assistant", content: responseText},
            finish_reason: stopReason === "maxTokens" ? "length" : "stop"
        }],
        usage: {
            prompt_tokens: used.usedInputTokens, completion_tokens: used.usedOutputTokens,
            total_tokens: used.usedInputTokens + used.usedOutputTokens
        }
    }];
}

const server = http.createServer((request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
        last = last.then(() => complete(JSON.parse(Buffer.concat(pieces).toString())))
            .catch((error) => [500, {error: {message: String(error)}}])
            .then(([status, answer]) => {
                response.writeHead(status, {"Content-Type": "application/json"});
                response.end(JSON.stringify(answer));
            });
    });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
process.stdin.on("end", () => process.exit(0)).resume();
