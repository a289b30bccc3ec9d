// The page in a cell of a notebook: a frame of its own; what it says goes to the kernel, what the kernel says to it.
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts allow-downloads";
  frame.allow = "clipboard-write *";
  frame.title = "hegemon watch";
  frame.style.cssText = "width:100%;height:720px;border:0";
  frame.srcdoc = model.get("page");
  const fromPage = (event) => {
    if (event.source === frame.contentWindow && typeof event.data?.hegemon === "string") model.send({ text: event.data.hegemon });
  };
  const fromKernel = (content, buffers) => {
    const [view] = buffers || [];
    const data = view ? view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) : content.text;
    frame.contentWindow?.postMessage(data, "*");
  };
  addEventListener("message", fromPage);
  model.on("msg:custom", fromKernel);
  el.append(frame);
  return () => { removeEventListener("message", fromPage); model.off("msg:custom", fromKernel); };
}
export default { render };
